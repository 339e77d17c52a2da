//! The server of a run, its endpoint, and what the application does.
//!
//! *Invariant:* the application answers each login, and reads each message in the tick in which it arrives.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use repl::prelude::*;
use repl::sim::{Rng, TraceHash};
use repl::{ConnectionId, DisconnectReason, Endpoint, ServerEvent};

use super::flood::{Flood, share_of};
use super::guest::{Beacon, Note, register};
use super::meter::Meter;
use super::plan::Plan;

/// The messages between the server and a guest in a session.
#[derive(Clone, Copy, Debug)]
pub(super) struct Talk {
    pub(super) guest: u32,
    /// The number of the session of the guest.
    pub(super) session: u32,
    pub(super) heard: u32,
    pub(super) sent: u32,
}

pub(super) struct Hall {
    pub(super) server: Server,
    pub(super) endpoint: Endpoint,
    pub(super) beacon: ObjectRef<Beacon>,
    pub(super) talks: BTreeMap<ConnectionId, Talk>,
    /// The connections that have begun and not ended.
    begun: BTreeSet<ConnectionId>,
    meter: Meter,
    /// The logins that wait for the application, and when it answers them.
    logins: Vec<(Duration, ConnectionId)>,
}

impl Hall {
    /// Returns a server with an endpoint. Each server has a different secret.
    pub(super) fn new(plan: &Plan, rng: &mut Rng) -> Self {
        let mut server = Server::new(plan.server());
        register(&mut server);
        let beacon = server.spawn(Beacon { light: rng.below(1_000) });
        let secret = u128::from(rng.next_u64()) << 64 | u128::from(rng.next_u64());
        let endpoint = Endpoint::new(plan.limits.clone(), secret);
        Self {
            server,
            endpoint,
            beacon,
            talks: BTreeMap::new(),
            begun: BTreeSet::new(),
            meter: Meter::default(),
            logins: Vec::new(),
        }
    }

    pub(super) fn receive(&mut self, now: Duration, from: SocketAddr, packet: &[u8], trace: &mut TraceHash) {
        trace.number(now.as_nanos() as u64);
        trace.bytes(packet);
        self.meter.received(from, packet);
        self.endpoint.receive(&mut self.server, now, from, packet);
    }

    /// Reads events and messages, and answers logins. Returns the connections that ended.
    pub(super) fn attend(
        &mut self,
        now: Duration,
        decision: Duration,
        rng: &mut Rng,
    ) -> Vec<(ConnectionId, DisconnectReason)> {
        while let Some((id, Note(guest, session, number))) = self.server.poll_message::<Note>() {
            let talk = self.talks.entry(id).or_insert(Talk { guest, session, heard: 0, sent: 0 });
            assert_eq!((guest, session, number), (talk.guest, talk.session, talk.heard), "each message once");
            talk.heard += 1;
        }
        let mut ended = Vec::new();
        while let Some(event) = self.server.poll_event() {
            match event {
                ServerEvent::Login(id, _) => {
                    self.logins.push((now + rng.duration(decision), id));
                }
                ServerEvent::Connected(id) => _ = self.begun.insert(id),
                ServerEvent::Disconnected(id, reason) => {
                    self.begun.remove(&id);
                    ended.push((id, reason));
                }
                _ => {}
            }
        }
        for (_, id) in self.logins.extract_if(.., |(at, _)| *at <= now) {
            self.server.connection(id).accept(b"welcome");
        }
        ended
    }

    pub(super) fn say(&mut self, id: ConnectionId) {
        let Some(talk) = self.talks.get_mut(&id) else { return };
        if self.server.connection(id).send(&Note(talk.guest, talk.session, talk.sent)).is_ok() {
            talk.sent += 1;
        }
    }

    /// Returns all packets that are due, with their addresses.
    pub(super) fn poll(&mut self) -> Vec<(SocketAddr, Vec<u8>)> {
        let mut packets = Vec::new();
        while let Some((to, packet)) = self.endpoint.poll_transmit(&mut self.server) {
            self.meter.sent(to, packet);
            packets.push((to, packet.to_vec()));
        }
        self.meter.polled();
        packets
    }

    /// Checks the numbers of connections.
    pub(super) fn check_limits(&self, plan: &Plan, flood: Option<&Flood>) {
        let (open, begun) = (self.server.connections().count(), self.begun.len());
        // New connections may wait for a place.
        assert!(open <= plan.limits.max_connections + plan.limits.max_half_open, "{open} connections");
        assert!(begun <= plan.limits.max_connections, "{begun} connections have begun");
        let Some(flood) = flood else { return };
        let mut of_host: BTreeMap<IpAddr, (usize, usize)> = BTreeMap::new();
        for id in self.server.connections() {
            if let Some(address) = self.endpoint.address(id).filter(|address| Flood::is_of_flood(*address)) {
                let (all, half_open) = of_host.entry(address.ip()).or_default();
                *all += 1;
                *half_open += usize::from(!flood.finished.contains(&address));
            }
        }
        let share = share_of(plan);
        for (host, (all, half_open)) in &of_host {
            assert!(*half_open <= share, "{half_open} half-open connections of {host}");
            assert!(*all <= plan.limits.max_per_origin, "{all} connections of {host}");
        }
        let half_open: usize = of_host.values().map(|(_, half_open)| half_open).sum();
        assert!(half_open <= plan.limits.max_half_open, "{half_open} half-open connections");
    }

    /// Checks that the endpoint stores only its configuration, its last packet, a counter, and whether it was
    /// polled.
    pub(super) fn check_empty(&self, plan: &Plan) {
        let present = |endpoint: &Endpoint| {
            let debug = format!("{endpoint:?}");
            let without = |text: &str, field: &str, end: char| -> String {
                let (before, rest) = text.split_once(field).expect("a field of the endpoint");
                let after = rest.split_once(end).map_or("", |(_, after)| after);
                format!("{before}{after}")
            };
            let debug = without(&debug, "evictions: ", ',');
            without(&without(&debug, "last_packet: [", ']'), "polls: PollWatch {", '}')
        };
        let empty = Endpoint::new(plan.limits.clone(), 0);
        assert_eq!(present(&self.endpoint), present(&empty), "nothing is left");
        assert_eq!(self.server.connections().count(), 0);
    }
}
