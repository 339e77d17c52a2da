//! Editors: setters write a value, and mark the property if the value differs.
//!
//! *Invariant:* nothing in these tests is marked in another way, so what arrives was marked by a setter.

mod external;
mod plain;
mod same_as_compared;
mod setters;
