"""Server discovery, monitoring and selection as pure rules: descriptions in, descriptions out."""
