"""What is done when somebody asks: a question answered, evidence packed, an answer offered as a page."""
