"""Recorded turns in the forms of others: JSON Lines, Parquet, Inspect `.eval`, OpenTelemetry spans, ExecutionTrace.

Law: a view, read off the log; nothing is judged anew and nothing is made up. What another form has no place for is left
out, what it wants and a log does not have is left empty. One module for each form.
"""
