"""Gold plans of other people's data sets, brought to Metnos: conversion, stand-in tools, a reference to compare with."""
