"""`python -m serving.cli` is `nightwiki`."""

from serving.cli import main

if __name__ == "__main__":
    main()
