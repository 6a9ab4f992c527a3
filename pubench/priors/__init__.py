"""Estimators of the class prior from PU data."""
