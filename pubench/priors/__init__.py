"""How many positives there are: estimators of the class prior from PU data."""
