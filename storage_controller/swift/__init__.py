"""What the controller asks Swift for: views, places, objects that are stored again."""
