//! Both kinds of fast arrays on their own: what users call, how shadows follow them, and how clients receive
//! items.

mod support;

mod array;
mod following;
mod ordered;
mod receiving;
mod vec_like;
