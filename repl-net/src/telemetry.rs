//! Logs and metrics, with the features `tracing` and `metrics`. Without these features, the macros and
//! functions here do nothing.
//!
//! The following are spans of the level `DEBUG`: a tick of a server, the parts of the tick, and each packet
//! that a client applies. The beginning and the end of a session are events of the level `INFO`. Mistakes of
//! the program or of a peer are events of the level `WARN`. The contents of packets are events of the level
//! `TRACE`. The guide lists all spans and events.
//!
//! *Invariant:* the number of spans and metrics does not depend on the number of objects or connections. The
//! label of a metric is the name of a class, and never names an object or a connection.

use std::fmt;
use std::time::Duration;

use repl_link::ConnectionId;
use repl_link::parts::Sequence;

/// Begins a span, which lasts until the end of the block. Use this macro as a statement. Its arguments are a
/// level, a name and fields.
macro_rules! span {
    ($level:ident, $name:literal $($field:tt)*) => {
        #[cfg(feature = "tracing")]
        let _entered = tracing::span!(tracing::Level::$level, $name $($field)*).entered();
    };
}

/// Logs an event. The arguments are a level, fields and a text.
macro_rules! event {
    ($level:ident, $($field:tt)*) => {
        #[cfg(feature = "tracing")]
        tracing::event!(tracing::Level::$level, $($field)*);
    };
}

pub(crate) use {event, span};

/// Logs a warning if `jump` is a time. It is the time between two ticks if this time is greater than the
/// timeout of sessions.
pub(crate) fn note_jump(jump: Option<Duration>) {
    #[cfg(feature = "tracing")]
    if let Some(jump) = jump {
        event!(
            WARN,
            ?jump,
            "`now` has jumped by more than the timeout between two ticks: either the program stood still, or `now` is in another unit, \
             for example milliseconds that were passed to `Duration::from_secs`"
        );
    }
    #[cfg(not(feature = "tracing"))]
    let _ = jump;
}

/// Returns whether a subscriber wants the events with the contents of packets.
pub(crate) fn wants_packets() -> bool {
    #[cfg(feature = "tracing")]
    return tracing::enabled!(target: "repl::packets", tracing::Level::TRACE);
    #[cfg(not(feature = "tracing"))]
    false
}

/// Logs the contents of a packet. `connection` is the receiver if a server has sent the packet, and `None` if
/// a client has received it.
pub(crate) fn packet(connection: Option<ConnectionId>, sequence: Sequence, content: &dyn fmt::Display) {
    #[cfg(feature = "tracing")]
    {
        let (connection, packet) = (connection.map(tracing::field::debug), sequence.number());
        tracing::event!(target: "repl::packets", tracing::Level::TRACE, connection, packet, "{content}");
    }
    #[cfg(not(feature = "tracing"))]
    let _ = (connection, sequence, content);
}

/// Totals of all packets that a server has sent to its current connections.
#[cfg(feature = "metrics")]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sent {
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
    pub(crate) packets_lost: u64,
}

/// Counts a tick of a server. `before` and `after` are the totals of the connections before and after the
/// tick.
#[cfg(feature = "metrics")]
pub(crate) fn count_tick(connections: usize, before: Sent, after: Sent) {
    metrics::counter!("repl_server_ticks").increment(1);
    metrics::gauge!("repl_server_connections").set(connections as f64);
    metrics::counter!("repl_server_packets_sent").increment(after.packets.saturating_sub(before.packets));
    metrics::counter!("repl_server_bytes_sent").increment(after.bytes.saturating_sub(before.bytes));
    let lost = after.packets_lost.saturating_sub(before.packets_lost);
    metrics::counter!("repl_server_packets_lost").increment(lost);
}

/// Records the number of objects of a class, and how many of them have changed in a tick.
#[cfg(feature = "metrics")]
pub(crate) fn count_class(class: &'static str, objects: usize, changed: u64) {
    metrics::gauge!("repl_server_objects", "class" => class).set(objects as f64);
    metrics::counter!("repl_server_objects_changed", "class" => class).increment(changed);
}

/// Counts a value that a server could not send.
#[cfg(feature = "metrics")]
pub(crate) fn count_refusal(class: &'static str) {
    metrics::counter!("repl_server_values_refused", "class" => class).increment(1);
}
