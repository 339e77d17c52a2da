//! The label of an object in logs: its class, its guid, and a name if it has one.
//!
//! *Invariant:* a label is only for people, so no code reads it.

use std::fmt;

use repl_core::Guid;

/// The name of an object in logs: `Lamp 3v1`, or `Lamp 3v1 "by the door"` if the program has named it.
pub(crate) struct Label<'a> {
    pub(crate) guid: Option<Guid>,
    /// The name of the object's class. `None` if the object does not exist.
    pub(crate) class: Option<&'a str>,
    pub(crate) name: Option<&'a str>,
}

impl fmt::Display for Label<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { guid, class, name } = self;
        let Some(guid) = guid else { return f.write_str("null") };
        write!(f, "{} {guid:?}", class.unwrap_or("no object"))?;
        name.map_or(Ok(()), |name| write!(f, " {name:?}"))
    }
}
