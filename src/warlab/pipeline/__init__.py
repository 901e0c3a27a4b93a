"""What each rule of the workflow asks: paths, inputs, parameters, resources."""
