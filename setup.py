"""The entry that legacy tooling expects; everything is said in setup.cfg."""

from setuptools import setup

setup()
