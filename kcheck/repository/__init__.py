"""The model of the repository: the roles of files, the rules that apply to them, and which objects are deployed together."""
