//! A server with a document, its readers, and the simulated network between them.
//!
//! *Invariant:* a client learns everything over the network.

use std::time::Duration;

use repl::prelude::*;
use repl::sim::{Clock, LinkConditions, Network, PeerId};

use crate::args::Args;
use crate::document::Document;
use crate::trace::{Patch, Trace};

const SERVER: PeerId = PeerId(0);
const TICKS_PER_SECOND: u32 = 60;
/// How long clients may take to connect. Also how long they may take to converge at the end.
const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) struct Session {
    server: Server,
    document: ObjectRef<Document>,
    is_plain: bool,
    readers: Vec<Reader>,
    network: Network,
    clock: Clock,
}

/// A client that reads the document, and the server's id for its connection.
struct Reader {
    client: Client,
    connection: ConnectionId,
    peer: PeerId,
    /// The reason for which the connection ended, if it has ended.
    ended: Option<String>,
}

impl Session {
    /// Returns a server with the first text of the recording, and clients that have not said hello yet.
    pub(crate) fn new(args: &Args, trace: &Trace) -> Self {
        let mut server = Server::new(ServerConfig::default());
        let document = server.spawn(Document::new(&trace.start, args.plain));
        let (latency, jitter) =
            (Duration::from_millis(args.latency_ms), Duration::from_millis(args.jitter_ms));
        let conditions = LinkConditions { latency, jitter, ..LinkConditions::perfect() };
        let mut session = Self {
            server,
            document,
            is_plain: args.plain,
            readers: Vec::new(),
            network: Network::new(args.seed),
            clock: Clock::at_hz(TICKS_PER_SECOND),
        };
        for number in 1..=args.clients {
            session.connect(PeerId(number), conditions.with_loss(args.loss));
        }
        session
    }

    fn connect(&mut self, peer: PeerId, conditions: LinkConditions) {
        self.network.connect(SERVER, peer, conditions);
        let mut client = Client::new(ClientConfig::default(), repl::Session::for_tests(peer.0.into()));
        client.register::<Document>();
        let connection = self.server.connect(self.clock.now());
        self.readers.push(Reader { client, connection, peer, ended: None });
    }

    /// Applies a patch to the server's text.
    pub(crate) fn apply(&mut self, patch: &Patch) {
        self.server[self.document].apply(patch, self.is_plain);
    }

    /// Returns the number of characters of the server's text.
    pub(crate) fn len(&self) -> usize {
        self.server[self.document].len()
    }

    /// Runs one tick of the server and all clients.
    pub(crate) fn tick(&mut self) {
        let now = self.clock.tick();
        while let Some(delivery) = self.network.deliver(now) {
            let is_up = delivery.to == SERVER;
            let peer = if is_up { delivery.from } else { delivery.to };
            let Some(reader) = self.readers.iter_mut().find(|reader| reader.peer == peer) else { continue };
            if is_up {
                self.server.receive(reader.connection, now, delivery.bytes);
            } else if let Err(error) = reader.client.receive(now, delivery.bytes) {
                reader.ended.get_or_insert(error.to_string());
            }
        }
        while let Some(event) = self.server.poll_event() {
            if !matches!(event, ServerEvent::Connected(_)) {
                eprintln!("shared_document: {event:?}");
            }
        }
        self.server.tick(now);
        for reader in &mut self.readers {
            while let Some(packet) = self.server.poll_transmit(reader.connection) {
                self.network.send(now, SERVER, reader.peer, packet);
            }
            reader.tick(&mut self.network, now);
        }
    }

    /// Runs until every client has the document. Returns false if this takes longer than `PATIENCE`.
    pub(crate) fn open(&mut self) -> bool {
        self.run_until(|session| {
            session.readers.iter().all(|reader| reader.client.get(session.document).is_some())
        })
    }

    /// Runs until every client's text is `end`. Returns false if this takes longer than `PATIENCE`.
    pub(crate) fn converge(&mut self, end: &str) -> bool {
        self.run_until(|session| (0..session.readers.len()).all(|at| session.difference(at, end).is_none()))
    }

    fn run_until(&mut self, is_reached: impl Fn(&Self) -> bool) -> bool {
        let deadline = self.clock.now() + PATIENCE;
        while self.clock.now() < deadline {
            if is_reached(self) {
                return true;
            }
            self.tick();
        }
        false
    }

    /// Returns how a client's text differs from `end`. Returns `None` if the texts are equal.
    pub(crate) fn difference(&self, reader: usize, end: &str) -> Option<String> {
        let Reader { client, ended, .. } = &self.readers[reader];
        if let Some(ended) = ended {
            return Some(ended.clone());
        }
        let Some(document) = client.get(self.document) else { return Some("no document".to_owned()) };
        let place = document.chars().zip(end.chars()).position(|(one, other)| one != other);
        match place {
            Some(place) => Some(format!("differs at {place}")),
            None if document.len() != end.chars().count() => Some("differs in length".to_owned()),
            None => None,
        }
    }

    /// Returns the difference between the lengths of a client's text and the server's text, in characters.
    pub(crate) fn lag(&self, reader: usize) -> usize {
        let len = self.readers[reader].client.get(self.document).map_or(0, Document::len);
        len.abs_diff(self.len())
    }

    /// Returns the statistics of each client's connection.
    pub(crate) fn sent(&self) -> impl Iterator<Item = ConnectionStats> {
        self.readers
            .iter()
            .map(|reader| self.server.connection_info(reader.connection).stats().unwrap_or_default())
    }
}

impl Reader {
    /// Runs a tick of the client: handles its events and sends its packets.
    fn tick(&mut self, network: &mut Network, now: Duration) {
        while let Some(event) = self.client.poll_event() {
            if let ClientEvent::Disconnected(reason) = event {
                self.ended.get_or_insert(reason.to_string());
            }
        }
        self.client.tick(now);
        while let Some(packet) = self.client.poll_transmit() {
            network.send(now, self.peer, SERVER, packet);
        }
    }
}
