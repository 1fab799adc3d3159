"""Programs in stripes of rows: which rows operators read, and the chains that attributes choose."""
