"""What the kernel can be set to for measuring, and back."""
