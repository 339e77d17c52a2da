//! Macros for logs and metrics, with the features `tracing` and `metrics`. Without these features, the macros
//! do nothing.
//!
//! *Invariant:* a peer that has not finished the handshake causes only events of the level `DEBUG`, so a
//! flood does not fill the log.

/// Logs an event. The arguments are a level, fields and a text.
macro_rules! event {
    ($level:ident, $($field:tt)*) => {
        #[cfg(feature = "tracing")]
        tracing::event!(tracing::Level::$level, $($field)*);
    };
}

/// Increments the counter with this name.
#[cfg(not(target_family = "wasm"))]
macro_rules! count {
    ($name:literal) => {
        #[cfg(feature = "metrics")]
        metrics::counter!($name).increment(1);
    };
}

#[cfg(not(target_family = "wasm"))]
pub(crate) use count;
pub(crate) use event;
