"""From one request and its plan to a template that other values fit: located, converted, compared; and bound anew."""
