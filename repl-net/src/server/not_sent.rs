//! The reasons why nothing of an object is sent to a connection.
//!
//! *Invariant:* the variants are declared in the order in which the server checks the reasons, with two
//! exceptions. The server checks [`NotSent::NextTick`] before [`NotSent::Band`] and [`NotSent::Rate`] if a
//! change became due too late for this tick. It checks [`NotSent::NoOwner`] once for the whole object and
//! once for properties.

use std::fmt;

use super::cells::Relevancy;

/// Why nothing of an object is sent to a connection now.
/// [`ObjectInfo::why_not_sent_to`](crate::ObjectInfo::why_not_sent_to) returns the first reason that applies,
/// in the order of the variants. Only [`NextTick`](Self::NextTick) may be returned before
/// [`Band`](Self::Band) and [`Rate`](Self::Rate), and [`NoOwner`](Self::NoOwner) is returned last if only
/// properties need an owner.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotSent {
    /// The session of the connection has not begun, or has ended.
    NotConnected,
    /// The connection is the [host](crate::Server::connect_host). The host uses the objects of the server, so
    /// no object is sent to it.
    Host,
    /// The object, or an object to which it is attached, is [hidden](crate::ObjectHandle::set_visible) from
    /// the connection.
    Hidden,
    /// The object is [paused](crate::ObjectHandle::set_paused), for all connections or for this connection.
    /// Or it is attached to a paused object that the client does not have yet.
    ObjectPaused,
    /// The object has [initial dormancy](crate::Dormancy::Initial) and has not changed yet, so no client
    /// receives it. For an object that fell asleep later, the reason is
    /// [`NothingChanged`](Self::NothingChanged), and [`is_asleep_for`](crate::ObjectInfo::is_asleep_for)
    /// returns `true`.
    Asleep,
    /// The connection is not in the [audience](crate::ObjectHandle::set_audience) of the object, or of an
    /// object to which it is attached.
    NotInAudience,
    /// The audience or the [relevancy](crate::ObjectHandle::set_relevancy) of the object is a
    /// [combination](Relevancy::any) that does not show it to the connection. The value is what the
    /// connection lacks: the combination without the parts that show the object. For example, it is `HALL`
    /// if the combination is `Relevancy::all([Relevancy::Located, HALL.into()])` and the connection is near.
    /// If it lacks only [`Located`](Relevancy::Located), the reason is [`NoViewpoints`](Self::NoViewpoints)
    /// or [`OutOfSight`](Self::OutOfSight).
    Combination(Relevancy),
    /// The connection is not in the [group](crate::Relevancy::Group) that sees the object.
    NotInGroup,
    /// The object has a position, and the connection has no viewpoints, so it sees no objects with positions.
    /// Call [`set_viewpoints`](crate::ConnectionHandle::set_viewpoints) or
    /// [`follow`](crate::ConnectionHandle::follow) for the connection.
    NoViewpoints,
    /// The object is too far from the [viewpoints](crate::ConnectionHandle::set_viewpoints) of the
    /// connection.
    OutOfSight,
    /// Only the owner may see the object, or the properties that have changed. The object has no owner, or
    /// the connection that owns it has ended. Call [`set_owner`](crate::ObjectHandle::set_owner).
    NoOwner,
    /// The [relevancy](crate::ObjectHandle::set_relevancy) of the object is "only the owner", "nobody", or a
    /// [function](crate::ClassHandle::set_relevancy_by) that does not show it to the connection. If the
    /// object is attached to another object, the relevancy of the other object decides.
    Irrelevant,
    /// The connection is [paused](crate::ConnectionHandle::pause).
    Paused,
    /// A large opening (first update), an update that is larger than a packet, or the removal of the object
    /// was sent and is not acknowledged yet. Nothing more of the object is sent before the ack. (Changes do
    /// not wait for the ack of a small opening: each change is sent together with the opening.) Or the object
    /// waits for another object: for its parent, whose opening is not acknowledged yet, or for a removed
    /// object with the same path, whose removal is not acknowledged yet.
    Unacknowledged,
    /// The object waits for its turn. Either the [budget](crate::ConnectionHandle::set_budget), the link or
    /// another limit is exhausted in this tick, or the connection is not served in this tick
    /// ([`connections_per_tick`](crate::ServerConfig::connections_per_tick)), or the tick had no time to
    /// compare the object or to serve the connection ([`tick_while`](crate::Server::tick_while)).
    Budget,
    /// A change of the object waits until it is due, because the connection is [far from the
    /// object](crate::Area::slower_beyond).
    Band,
    /// A change of the object waits for the next update that its [rate](crate::ClassHandle::set_update_rate)
    /// allows.
    Rate,
    /// The next tick sends the object. Either it was written to and was not compared yet, or its changes
    /// became due too late for this tick.
    NextTick,
    /// Everything else was sent. Only values of properties with the condition `NearOnly` were not sent,
    /// because the connection is [too far](crate::Area::near_within) from the object.
    Far,
    /// Everything else was sent, but the last comparison refused a value. The event
    /// [`ValueRefused`](crate::ServerEvent::ValueRefused) has named the property and the error.
    Refused,
    /// Everything else was sent, but a `push` property has a new value and was not marked as changed. Write
    /// the property with [`Server::edit`](crate::Server::edit), or call
    /// [`mark_dirty`](crate::ObjectHandle::mark_dirty) after a write.
    Unmarked,
    /// Everything that was compared was sent. However, the object lives [outside of the
    /// server](crate::External), and it was not compared between the last two ticks. Pass the object to
    /// [`compare`](crate::External::compare) after each change.
    NotCompared,
    /// Everything that the connection sees of the object was sent. If you miss a change, a condition does not
    /// allow it for this connection.
    NothingChanged,
}

/// Prints the reason as the end of a sentence that begins with "not sent, because".
impl fmt::Display for NotSent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotConnected => "the connection has no session",
            Self::Host => "the connection is the host, which uses the objects of the server",
            Self::Hidden => "the object is hidden from the connection",
            Self::ObjectPaused => "the object is paused",
            Self::Asleep => "the object has initial dormancy and has not changed yet",
            Self::NotInAudience => "the connection is not in the audience of the object",
            Self::Combination(lacking) => {
                return write!(
                    f,
                    "these parts of its audience or relevancy do not show it to the connection: `{lacking:?}`"
                );
            }
            Self::NotInGroup => "the connection is not in the group that sees the object",
            Self::NoViewpoints => {
                "the object has a position and the connection has no viewpoints: call `set_viewpoints` for it"
            }
            Self::OutOfSight => "the object is too far from the viewpoints of the connection",
            Self::NoOwner => {
                "only its owner would receive it, and the object has no owner, or one whose connection has ended: \
                 call `set_owner`"
            }
            Self::Irrelevant => "only its owner sees the object, or nobody, or a function does not show it",
            Self::Paused => "the connection is paused",
            Self::Unacknowledged => "something of the object, or of its parent, is not acknowledged yet",
            Self::Budget => "the budget, the link or another limit leaves no room yet",
            Self::Band => "the connection is far from the object, and the change is not due yet",
            Self::Rate => "the update rate of the object has not come to its next update yet",
            Self::NextTick => "the next tick sends it",
            Self::Far => "the connection is too far from the object for what has changed",
            Self::Refused => "a value was refused: the event `ValueRefused` names the property and the error",
            Self::Unmarked => {
                "a `push` property was written without a mark: write it with `edit`, or call `mark_dirty` after it"
            }
            Self::NotCompared => {
                "the object lives outside of the server, and was not passed to `External::compare` before the last \
                 tick: do so before each tick in which it may have changed"
            }
            Self::NothingChanged => "everything that the connection sees of the object was sent",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_print_as_the_end_of_a_sentence() {
        let printed = format!("The chest was not sent, because {}.", NotSent::NotInGroup);
        assert_eq!(
            printed,
            "The chest was not sent, because the connection is not in the group that sees the object."
        );
    }
}
