"""The pytest plugin of the house: what a session ran, and what that says about the test plan."""
