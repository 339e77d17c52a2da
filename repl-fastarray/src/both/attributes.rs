//! What attributes on the field of an array can say: how long it may be, and for items that are one leaf, how
//! these travel.
//!
//! Invariant: whatever an attribute can say of one kind of array it can say of the other.

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
