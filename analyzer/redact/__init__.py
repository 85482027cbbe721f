"""Captures without what they must not tell: names become pseudonyms, content becomes zeros, sizes and times stay."""
