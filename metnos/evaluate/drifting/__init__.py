"""What has changed since the recording: tools, arguments, results, references, verdicts; step by step, field by field."""
