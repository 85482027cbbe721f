"""Bodies of chosen exchanges, read again as trees and text; knows no command line."""
