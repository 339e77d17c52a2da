//! The building blocks of sessions, for crates that put data of their own into packets.
//!
//! A [`ServerSessions`] stores the connections of a server, each with a [`Link`]. A [`ClientSession`] is the
//! client's side. The trait [`Payload`] describes the data that packets carry in addition to acks and
//! messages. The module [`plain`](crate::plain) is a small example that uses these types.

pub use crate::client::guest::Visit;
pub use crate::client::{Beginning, ClientSession, Heard, MakeRate, SessionStats};
pub use crate::frame::acks::AckRange;
pub use crate::frame::cut::{Cut, LEAST_PART_BITS, Partial};
pub use crate::frame::header::{Extension, Header};
pub use crate::frame::message::{ReceivedMessage, SentMessage};
pub use crate::frame::packet::{MTU_BYTES, read_end};
pub use crate::frame::sealed::{from_sealed, to_sealed};
pub use crate::frame::sequence::Sequence;
pub use crate::link::{Acked, Acks, Link, Losses, NewPacket};
pub use crate::messages::channel::{ChannelConfig, held_bytes};
pub use crate::messages::direct::{DirectLimits, DirectMessage};
pub use crate::messages::exchange::{CheckedMessages, Exchange};
pub use crate::messages::mailbox::{Arrival, Inbox, InboxRefusal, MAX_UNREAD, Mailbox};
pub use crate::messages::outgoing::Outgoing;
pub use crate::messages::read_ahead::{ReadAhead, Ticket};
pub use crate::messages::recipient::{MayReceive, Recipient};
pub use crate::messages::sender::Sender;
pub use crate::messages::written::Written;
pub use crate::outbox::{Body, Draft, Outbox, SEGMENT_BITS, frame_bits};
pub use crate::packet_size::probing::PathFinding;
pub use crate::queue::send_queue::SendQueue;
pub use crate::rate::health::LinkHealth;
pub use crate::rate::rate_limit::RateLimit;
pub use crate::rate::rtt::RoundTrip;
pub use crate::sent::in_flight::{Delivery, InFlight, SentPacket};
pub use crate::sent::payload::{BodyWriter, Payload, Record};
pub use crate::server::host::Roster;
pub use crate::server::peer::{HasLink, Peer};
pub use crate::server::peers::{PeerEntry, Peers};
pub use crate::server::rest::Rest;
pub use crate::server::{Maker, ServerSessions};
pub use crate::session::agreement::{Agreement, ChannelTerms, ClassForms, ClassTerms};
pub use crate::session::client_handshake::ClientContext;
pub use crate::session::closing::shortened;
pub use crate::session::login::{Concealed, max_login_bytes};
pub use crate::session::mismatch::{CALLS, MESSAGE, UNRELIABLE_CALLS};
pub use crate::session::secret::Secret;
pub use crate::session::server_handshake::ServerHandshake;
pub use crate::session::server_outcome::ServerOutcome;
pub use crate::spare::ROUND_TICKS;
