//! What logs and metrics are told, with the features `tracing` and `metrics`. Without them, all of this is
//! nothing.
//!
//! *Invariant:* a stranger causes no event above the level `DEBUG`, so that a flood fills no log.

/// Logs an event, with the name of a level, fields and a text.
macro_rules! event {
    ($level:ident, $($field:tt)*) => {
        #[cfg(feature = "tracing")]
        tracing::event!(tracing::Level::$level, $($field)*);
    };
}

/// Counts something, by the name of its counter.
macro_rules! count {
    ($name:literal) => {
        #[cfg(feature = "metrics")]
        metrics::counter!($name).increment(1);
    };
}

pub(crate) use {count, event};
