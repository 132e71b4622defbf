"""The room that runs steps: it receives final arguments only and knows neither plans nor caches."""
