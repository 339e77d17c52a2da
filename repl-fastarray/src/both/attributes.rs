//! The attributes of fields that contain an array. An array has a limit on its length. If each item is a
//! single value, the attributes of that value are also allowed.
//!
//! *Invariant:* both kinds of arrays accept the same attributes.

use repl_core::__private::{Lengthy, Quantizable, Ranged};

use crate::array::FastArray;
use crate::item::LeafItem;
use crate::ordered::OrderedFastArray;

macro_rules! attributes {
    ($($array:ident)*) => {$(
        impl<T> Lengthy for $array<T> {}

        #[diagnostic::do_not_recommend]
        impl<T: LeafItem + Quantizable> Quantizable for $array<T> {}

        #[diagnostic::do_not_recommend]
        impl<T: LeafItem + Ranged> Ranged for $array<T> {}
    )*};
}

attributes!(FastArray OrderedFastArray);
