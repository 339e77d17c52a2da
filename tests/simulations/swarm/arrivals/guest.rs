//! An honest client: by when it must have joined, and for which causes its session may end.
//!
//! *Invariant:* a session of a guest ends only for a cause that was recorded before.

use std::time::Duration;

use repl::prelude::*;
use repl::{Channel, ConnectionId, DisconnectReason};

use super::acts::Place;
use super::plan::{LONGEST_DELAY, Plan};

#[derive(Replicated, Default)]
#[replicated(all)]
pub(super) struct Beacon {
    pub(super) light: u64,
}

/// A message with the number of the guest, of its session, and of the message in this session and direction.
#[derive(NetSerialize, Clone, Debug, PartialEq)]
pub(super) struct Note(pub(super) u32, pub(super) u32, pub(super) u32);

/// Registers what all sides know.
pub(super) fn register(side: &mut impl Register) {
    side.register::<Beacon>().register_message::<Note>(Channel::Ordered);
}

/// Why a session may end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// Packets to the client or from it are lost for long.
    Silence,
    /// The server was started again.
    Restart,
    /// Another client is at the address that the client has left.
    Successor,
    /// An earlier client had the same number of the session.
    SameSession,
    /// The client has moved to another address before it had shown its token.
    Move,
    /// The server may have no free place.
    Crowd,
}

impl Cause {
    fn explains(self, reason: &DisconnectReason) -> bool {
        match reason {
            DisconnectReason::Timeout | DisconnectReason::Forgotten => true,
            // The earlier client has ended the session.
            DisconnectReason::Closed => self == Self::SameSession,
            DisconnectReason::Replaced => self == Self::Successor,
            DisconnectReason::Taken => matches!(self, Self::SameSession | Self::Move),
            DisconnectReason::Full => self == Self::Crowd,
            _ => false,
        }
    }
}

pub(super) struct Guest {
    pub(super) number: u32,
    pub(super) client: Client,
    pub(super) place: Place,
    /// The number of its first session.
    pub(super) session: u64,
    /// How many sessions have begun, and how many have ended or could not begin.
    pub(super) begun: u32,
    pub(super) ended: u32,
    /// The messages that were sent and that have arrived in the present session.
    pub(super) sent: u32,
    pub(super) heard: u32,
    /// The connection of the present session. It is known when the server has received a message of this
    /// session. Then the server also knows that the client has its token.
    pub(super) connection: Option<ConnectionId>,
    /// The time by which the client must have joined.
    pub(super) due: Duration,
    /// The causes for which a session may end, each with the time until which it counts.
    causes: Vec<(Cause, Duration)>,
    /// How many sessions of the client in a row ended as `Replaced` or `Taken`.
    yielded: u32,
    pub(super) has_left: bool,
}

impl Guest {
    pub(super) fn new(number: u32, place: Place, session: u64, plan: &Plan, now: Duration) -> Self {
        let mut client = Client::new(plan.client(), Session::for_tests(session));
        register(&mut client);
        Self {
            number,
            client,
            place,
            session,
            begun: 0,
            ended: 0,
            sent: 0,
            heard: 0,
            connection: None,
            due: now + plan.joins_within(),
            causes: Vec::new(),
            yielded: 0,
            has_left: false,
        }
    }

    /// Records a cause that begins now or before and lasts until `until`.
    pub(super) fn disturb(&mut self, cause: Cause, until: Duration, plan: &Plan) {
        let until = until + plan.recovers_within();
        self.causes.push((cause, until));
        self.due = self.due.max(until);
    }

    /// Returns whether a cause explains the end of the present session.
    pub(super) fn may_end(&self, reason: &DisconnectReason, now: Duration) -> bool {
        self.causes.iter().any(|(cause, until)| {
            (now <= *until || *reason == DisconnectReason::Full) && cause.explains(reason)
        })
    }

    pub(super) fn has_joined(&self) -> bool {
        self.client.is_connected() && self.client.objects::<Beacon>().next().is_some()
    }

    /// Returns whether both sides know that they are connected. Then an attacker may know the number of the
    /// session.
    pub(super) fn is_settled(&self) -> bool {
        self.connection.is_some() && self.begun == 1 && self.ended == 0 && self.client.is_connected()
    }

    /// Reads what has arrived.
    pub(super) fn look(&mut self, plan: &Plan, now: Duration) {
        while let Some(Note(guest, session, number)) = self.client.poll_message::<Note>() {
            assert_eq!((guest, session, number), (self.number, self.begun, self.heard), "each message once");
            self.heard += 1;
        }
        while let Some(event) = self.client.poll_event() {
            match event {
                ClientEvent::Connected => {
                    self.begun += 1;
                    (self.sent, self.heard, self.connection) = (0, 0, None);
                    self.say();
                }
                ClientEvent::Disconnected(reason) if !self.has_left => self.end(&reason, plan, now),
                _ => {}
            }
        }
    }

    fn end(&mut self, reason: &DisconnectReason, plan: &Plan, now: Duration) {
        assert!(
            self.may_end(reason, now),
            "guest {} at place {} ended at {:?}: {reason}, {} begun, causes {:?}",
            self.number,
            self.place,
            now - plan.start,
            self.begun,
            self.causes
        );
        self.ended += 1;
        self.connection = None;
        if *reason != DisconnectReason::Full {
            self.due = self.due.max(now + LONGEST_DELAY + plan.joins_within());
        }
        match reason {
            DisconnectReason::Replaced | DisconnectReason::Taken => self.yielded += 1,
            _ => self.yielded = 0,
        }
        // After two such ends in a row a client gives up.
        self.has_left = self.client.connection_info().is_over();
        assert_eq!(self.has_left, self.yielded > 1 || *reason == DisconnectReason::Closed);
    }

    pub(super) fn say(&mut self) {
        if self.client.is_connected() && self.client.send(&Note(self.number, self.begun, self.sent)).is_ok() {
            self.sent += 1;
        }
    }
}
