//! Editors: setters write a value, and mark the property if the value differs.
//!
//! *Invariant:* in these tests only setters mark properties, so each value that arrives was marked by a
//! setter.

mod external;
mod plain;
mod same_as_compared;
mod setters;
