//! Tests of both kinds of fast arrays without a server: the public methods, the updates of shadows, and the
//! items that clients receive.

mod support;

mod array;
mod following;
mod ordered;
mod receiving;
mod vec_like;
