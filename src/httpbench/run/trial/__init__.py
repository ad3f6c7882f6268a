"""The steps of a trial that several kinds of target share."""
