//! A model of calls that knows nothing of packets: it decides which calls may run and which calls must have
//! run.
//!
//! *Invariant:* the oracle learns only what the users of a server and of its clients see.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use repl::ConnectionId;

use super::unit::{Kind, Ran};

/// How long a call waits for the object that it refers to.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// A connection: the number of its server, and its id.
pub(crate) type Link = (u32, ConnectionId);

/// A call that was made.
#[derive(Debug)]
struct Call {
    uid: u32,
    kind: Kind,
    about: Option<u32>,
    at: Duration,
    sender: Sender,
}

#[derive(Debug)]
enum Sender {
    /// The server made the call for these connections. If the call is a multicast, the server runs it too.
    Server(Vec<Link>),
    /// The client of a seat made the call in one of its sessions.
    Client(usize, u32),
}

/// What the server knows about one of its objects.
#[derive(Debug)]
struct Unit {
    is_alive: bool,
    owner: Option<Link>,
    owned_since: Duration,
    hidden: BTreeSet<Link>,
    shown_since: BTreeMap<Link, Duration>,
    since: Duration,
}

/// A connection, and the session of its client.
#[derive(Debug)]
struct Connection {
    seat: usize,
    is_live: bool,
    since: Duration,
    /// The number of the client's session. `None` until a message with the number has arrived.
    session: Option<u32>,
    /// How many chats were sent and received over the connection, and the newest input.
    chats_sent: u32,
    chats_heard: u32,
    newest_input: Option<u32>,
}

/// The calls that a side has run.
#[derive(Debug, Default)]
struct Record {
    all: BTreeSet<u32>,
    /// The last reliable call that arrived over a connection, for each object.
    last: BTreeMap<(Option<Link>, u32), u32>,
}

impl Record {
    fn add(&mut self, who: &str, link: Option<Link>, ran: &Ran) {
        assert!(self.all.insert(ran.number), "{who} ran a call twice: {ran:?}");
        if ran.kind.is_reliable() {
            let last = self.last.insert((link, ran.uid), ran.number);
            assert!(last < Some(ran.number), "{who} ran {ran:?} after call {last:?}");
        }
    }
}

/// The chats of a client in one session.
#[derive(Debug, Default)]
struct Session {
    chats_sent: u32,
    chats_heard: u32,
    link: Option<Link>,
}

/// How the receiver of a call read the reference in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum About {
    Null,
    Unit(u32),
    /// An object that was removed since the call was read.
    Gone,
}

/// Whether a client had an object while a call was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    Always,
    Never,
    Changed,
}

#[derive(Debug, Default)]
pub(crate) struct Oracle {
    calls: Vec<Call>,
    units: BTreeMap<u32, Unit>,
    connections: BTreeMap<Link, Connection>,
    sessions: BTreeMap<(usize, u32), Session>,
    on_server: Record,
    on_seats: BTreeMap<usize, Record>,
}

impl Oracle {
    pub(crate) fn spawned(&mut self, uid: u32, now: Duration) {
        let (hidden, shown_since) = (BTreeSet::new(), BTreeMap::new());
        let unit = Unit { is_alive: true, owner: None, owned_since: now, hidden, shown_since, since: now };
        self.units.insert(uid, unit);
    }

    pub(crate) fn despawned(&mut self, uid: u32) {
        self.unit(uid).is_alive = false;
    }

    pub(crate) fn owned(&mut self, uid: u32, owner: Option<Link>, now: Duration) {
        let unit = self.unit(uid);
        (unit.owner, unit.owned_since) = (owner, now);
    }

    pub(crate) fn set_visible(&mut self, uid: u32, link: Link, visible: bool, now: Duration) {
        let unit = self.unit(uid);
        if visible && unit.hidden.remove(&link) {
            unit.shown_since.insert(link, now);
        } else if !visible {
            unit.hidden.insert(link);
        }
    }

    pub(crate) fn connected(&mut self, link: Link, seat: usize, now: Duration) {
        let connection = Connection {
            seat,
            is_live: true,
            since: now,
            session: None,
            chats_sent: 0,
            chats_heard: 0,
            newest_input: None,
        };
        assert!(self.connections.insert(link, connection).is_none(), "{link:?} connected twice");
    }

    pub(crate) fn disconnected(&mut self, link: Link) {
        if let Some(connection) = self.connections.get_mut(&link) {
            connection.is_live = false;
        }
        for unit in self.units.values_mut().filter(|unit| unit.owner == Some(link)) {
            unit.owner = None;
        }
    }

    pub(crate) fn restarted(&mut self) {
        self.connections.values_mut().for_each(|connection| connection.is_live = false);
        self.units.values_mut().for_each(|unit| unit.is_alive = false);
    }

    /// Checks that each client has at most one connection.
    pub(crate) fn check_connections(&self) {
        let live = self.connections.values().filter(|connection| connection.is_live);
        let mut seats: Vec<usize> = live.map(|connection| connection.seat).collect();
        seats.sort_unstable();
        assert!(seats.is_sorted_by(|one, next| one < next), "two connections of a client: {seats:?}");
    }

    pub(crate) fn links(&self) -> Vec<Link> {
        let live = self.connections.iter().filter(|(_, connection)| connection.is_live);
        live.map(|(link, _)| *link).collect()
    }

    pub(crate) fn seat_of(&self, link: Link) -> Option<usize> {
        self.connections.get(&link).map(|connection| connection.seat)
    }

    pub(crate) fn is_hidden(&self, uid: u32, link: Link) -> bool {
        self.units[&uid].hidden.contains(&link)
    }

    fn unit(&mut self, uid: u32) -> &mut Unit {
        self.units.get_mut(&uid).expect("an object of a run")
    }

    pub(crate) fn next_call(&self) -> u32 {
        self.calls.len() as u32
    }

    /// Records a call of the server, which may have been refused.
    pub(crate) fn server_called(&mut self, uid: u32, kind: Kind, about: Option<u32>, at: Duration, ok: bool) {
        let links = match (ok, kind.is_multicast()) {
            (false, _) => Vec::new(),
            (true, true) => self.links(),
            (true, false) => self.units[&uid].owner.into_iter().collect(),
        };
        self.calls.push(Call { uid, kind, about, at, sender: Sender::Server(links) });
    }

    /// Records a call of a client that was queued.
    pub(crate) fn client_called(
        &mut self,
        (seat, session): (usize, u32),
        uid: u32,
        kind: Kind,
        about: Option<u32>,
        at: Duration,
    ) {
        self.calls.push(Call { uid, kind, about, at, sender: Sender::Client(seat, session) });
    }

    /// Returns the call with the number of `ran`, and asserts that its object and kind are the same.
    fn call(&self, ran: &Ran) -> &Call {
        let call = self.calls.get(ran.number as usize).expect("a call that was made");
        assert_eq!((call.uid, call.kind), (ran.uid, ran.kind), "{ran:?} is not {call:?}");
        call
    }

    /// Returns the object that a call refers to.
    pub(crate) fn about(&self, number: u32) -> Option<u32> {
        self.calls.get(number as usize)?.about
    }

    /// Checks a call that ran on a client in one of its sessions. If `is_exact` is false, the call may have
    /// been read in the session before this one. `is_over` says whether the session has ended.
    pub(crate) fn ran_on_client(
        &mut self,
        (seat, session, is_exact, is_over): (usize, u32, bool, bool),
        ran: &Ran,
        about: About,
        presence: Presence,
        now: Duration,
    ) {
        let call = self.call(ran);
        let Sender::Server(links) = &call.sender else { panic!("{ran:?} is a call of a client") };
        let link = links.iter().find(|link| self.connections[link].seat == seat);
        let link = *link.unwrap_or_else(|| panic!("seat {seat} ran {ran:?}, which is for {links:?}"));
        if let Some(of_link) = self.connections[&link].session {
            let is_this = of_link == session || !is_exact && of_link + 1 == session;
            assert!(is_this, "session {session} of seat {seat} ran {ran:?} of session {of_link}");
        }
        // If an object was despawned, or belongs to an ended session, it can no longer arrive.
        let is_gone = |uid| self.units.get(&uid).is_none_or(|unit| !unit.is_alive);
        let waited = now - call.at >= LONGEST_WAIT || is_over || call.about.is_some_and(is_gone);
        match about {
            About::Null if call.about.is_none() => {}
            About::Null if ran.kind == Kind::Follow => {
                assert!(waited, "{ran:?} of {:?} did not wait until {now:?}", call.at);
            }
            About::Null => assert!(presence != Presence::Always, "{ran:?} lost its reference"),
            About::Unit(uid) => assert_eq!(Some(uid), call.about, "{ran:?} refers to another object"),
            About::Gone => assert!(presence != Presence::Never, "{ran:?} refers to what never was there"),
        }
        self.on_seats.entry(seat).or_default().add("a client", Some(link), ran);
    }

    /// Checks a call that ran on the server.
    pub(crate) fn ran_on_server(&mut self, server: u32, ran: &Ran, about: About) {
        let call = self.call(ran);
        let link = ran.caller.map(|id| (server, id));
        match call.sender {
            Sender::Server(_) => assert!(link.is_none() && call.kind.is_multicast(), "{ran:?}"),
            Sender::Client(seat, session) => {
                let link = link.expect("a call of a client has a caller");
                let connection = &self.connections[&link];
                assert_eq!(connection.seat, seat, "{ran:?} came from another client");
                let other = connection.session.filter(|of_link| *of_link != session);
                assert_eq!(other, None, "{ran:?} of session {session} came over {link:?}");
                assert_eq!(self.units[&ran.uid].owner, Some(link), "{ran:?} of one who is not the owner");
            }
        }
        assert!(self.units[&ran.uid].is_alive, "{ran:?} of an object that is gone");
        let there = call.about.filter(|about| self.units[about].is_alive);
        let expected = there.filter(|_| ran.kind.refers()).map_or(About::Null, About::Unit);
        assert_eq!(about, expected, "{ran:?}");
        self.on_server.add("the server", link, ran);
    }

    /// Returns how many lines a client has sent in a session.
    pub(crate) fn lines_of_client(&mut self, seat: usize, session: u32) -> &mut u32 {
        &mut self.sessions.entry((seat, session)).or_default().chats_sent
    }

    /// Returns how many lines the server has sent over a connection.
    pub(crate) fn lines_of_server(&mut self, link: Link) -> &mut u32 {
        &mut self.connections.get_mut(&link).expect("a connection").chats_sent
    }

    /// Records that a connection of the server and a session of a client belong together.
    fn join(&mut self, link: Link, seat: usize, number: u32) {
        let connection = self.connections.get_mut(&link).expect("a connection");
        assert_eq!(connection.seat, seat, "{link:?} brings messages of another client");
        assert_eq!(*connection.session.get_or_insert(number), number, "{link:?} has one session");
        let session = self.sessions.entry((seat, number)).or_default();
        assert_eq!(*session.link.get_or_insert(link), link, "session {number} has one connection");
    }

    pub(crate) fn server_heard_chat(&mut self, link: Link, seat: usize, session: u32, number: u32) {
        self.join(link, seat, session);
        let connection = self.connections.get_mut(&link).expect("a connection");
        assert_eq!(number, connection.chats_heard, "the chats of a session arrive in order and once");
        connection.chats_heard += 1;
    }

    pub(crate) fn server_heard_input(&mut self, link: Link, seat: usize, session: u32, number: u32) {
        self.join(link, seat, session);
        let connection = self.connections.get_mut(&link).expect("a connection");
        assert!(connection.newest_input < Some(number), "an input came after a newer one");
        connection.newest_input = Some(number);
    }

    pub(crate) fn client_heard_chat(&mut self, link: Link, seat: usize, session: u32, number: u32) {
        self.join(link, seat, session);
        let session = self.sessions.entry((seat, session)).or_default();
        assert_eq!(number, session.chats_heard, "the chats of a connection arrive in order and once");
        session.chats_heard += 1;
    }

    /// Returns something that must have arrived by the end of a run and has not.
    pub(crate) fn missing(&self) -> Option<String> {
        for (number, call) in self.calls.iter().enumerate().filter(|(_, call)| call.kind.is_reliable()) {
            let number = number as u32;
            let unit = &self.units[&call.uid];
            if !unit.is_alive {
                continue;
            }
            match &call.sender {
                Sender::Server(links) => {
                    let is_lost = |link: &&Link| {
                        let connection = &self.connections[link];
                        let shown = unit.shown_since.get(link).copied().unwrap_or_default();
                        let since = connection.since.max(shown).max(unit.since);
                        // A call for the owner is withdrawn if another connection becomes the owner.
                        let is_right = call.kind.is_multicast()
                            || unit.owner == Some(**link) && unit.owned_since <= call.at;
                        let must_run =
                            connection.is_live && is_right && !unit.hidden.contains(link) && since <= call.at;
                        let record = self.on_seats.get(&connection.seat);
                        must_run && record.is_none_or(|record| !record.all.contains(&number))
                    };
                    if let Some(link) = links.iter().find(is_lost) {
                        return Some(format!("call {number} to {link:?}: {call:?}"));
                    }
                }
                Sender::Client(seat, session) => {
                    let link = self.sessions.get(&(*seat, *session)).and_then(|session| session.link);
                    let is_live = link.is_some_and(|link| self.connections[&link].is_live);
                    let must_run = is_live && unit.owner == link && unit.owned_since <= call.at;
                    if must_run && !self.on_server.all.contains(&number) {
                        return Some(format!("call {number} of seat {seat}: {call:?}"));
                    }
                }
            }
        }
        for (link, connection) in self.connections.iter().filter(|(_, connection)| connection.is_live) {
            let session = connection.session.and_then(|number| self.sessions.get(&(connection.seat, number)));
            let Some(session) = session else { return Some(format!("nothing was heard from {link:?}")) };
            let (up, down) = (session.chats_sent, connection.chats_sent);
            if (connection.chats_heard, session.chats_heard) != (up, down) {
                return Some(format!("chats of {link:?}: {connection:?} {session:?}"));
            }
        }
        None
    }

    /// Returns how many calls ran on the server and on all clients.
    pub(crate) fn ran(&self) -> usize {
        self.on_server.all.len() + self.on_seats.values().map(|record| record.all.len()).sum::<usize>()
    }
}
