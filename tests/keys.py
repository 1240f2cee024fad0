"""Keys in the shapes of the providers, made up for tests."""

FAKE_KEYS = (
    "sk-" + "proj-Fake0123456789abcdefFAKE",
    "sk-" + "ant-api03-Fake_0123456789-abcdefFAKE",
    "AI" + "zaSyFake0123456789abcdefghijklmnopqrs",
    "gs" + "k_Fake0123456789abcdefghij",
)
