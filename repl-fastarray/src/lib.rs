//! Fast arrays.
