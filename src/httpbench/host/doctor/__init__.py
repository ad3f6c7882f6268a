"""What on this machine disturbs a measurement."""
