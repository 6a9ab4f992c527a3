"""What a person decides with scores: whom to call, how many of them are positive, where to stop."""
