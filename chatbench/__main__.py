"""`python -m chatbench`."""

from chatbench.cli import main

main()
