"""The steps of one trial that several kinds of target share."""
