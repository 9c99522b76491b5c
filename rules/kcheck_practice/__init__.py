"""What the API server accepts and hurts later."""
