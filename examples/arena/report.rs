//! The output: progress during the run, and tables or a line of JSON at the end.
//!
//! *Invariant:* the last line of a run with `--json` is one JSON object; progress goes to the standard error.
#![expect(clippy::print_stdout, reason = "the example's output")]

use crate::args::Args;
use arena_game::game::{Arena, TICKS_PER_SECOND};
use arena_game::host::HostPlayer;
use arena_game::model::Player;
use arena_game::session::Session;

/// The outcome of a run.
pub(crate) struct Outcome {
    pub(crate) converged: bool,
    pub(crate) leaks: u64,
    ticks: u32,
    clients: u32,
    objects: usize,
    bytes_per_client_per_second: f64,
    packets_lost: u64,
    /// Whether the server ended the connection of the cheater. `None` if there was no cheater.
    pub(crate) cheater_stopped: Option<bool>,
}

impl Outcome {
    /// Returns the part of the outcome that is known at the end of the match, before the clients have
    /// converged.
    pub(crate) fn of_match(session: &Session, args: &Args) -> Self {
        let seconds = f64::from(args.ticks) / f64::from(TICKS_PER_SECOND);
        Self {
            converged: false,
            leaks: 0,
            ticks: args.ticks,
            clients: args.clients,
            objects: session.objects(),
            bytes_per_client_per_second: session.sent().0 as f64 / f64::from(args.clients) / seconds,
            packets_lost: 0,
            cheater_stopped: None,
        }
    }

    /// Adds the part that is known when the clients have converged.
    pub(crate) fn finish(&mut self, session: &Session) {
        self.leaks = session.leaks;
        self.packets_lost = session.transport.lost(&session.server);
        let cheater = session.guests.iter().find(|guest| guest.pilot.is_cheater);
        self.cheater_stopped = cheater.map(|cheater| cheater.is_rejected);
    }

    /// Returns whether every client converged, no secret leaked, and the cheater was stopped, if there was
    /// one.
    pub(crate) fn is_good(&self) -> bool {
        self.converged && self.leaks == 0 && self.cheater_stopped != Some(false)
    }

    /// Prints the outcome in words.
    pub(crate) fn print(&self, session: &Session) {
        let Arena { teams: [one, other], .. } = &session.arena;
        let (one, other) = (&session.server[*one], &session.server[*other]);
        println!("{} {} : {} {}", one.name, one.score, other.score, other.name);
        println!(
            "{} ticks, {} clients, {} objects; {:.0} bytes a second to each client",
            self.ticks, self.clients, self.objects, self.bytes_per_client_per_second
        );
        println!(
            "secrets found in packets: {} where they may be, {} leaks",
            session.rightly_sent, self.leaks
        );
        let seen: u64 = session.guests.iter().map(|guest| guest.pilot.explosions).sum();
        let (shots, hits) = session.server.objects::<Player>().fold((0, 0), |(shots, hits), (_, player)| {
            (shots + player.shots_called, hits + player.hits_told)
        });
        println!(
            "calls: {shots} shots, {hits} hits, {} explosions that clients saw {seen} times; {} lines of chat",
            session.explosions,
            session.chat.line_count()
        );
        if let Some(HostPlayer { pilot, spawned, despawned, .. }) = &session.host {
            println!(
                "the host: {} shots, {} explosions, {} lines of chat, {spawned} objects that came and {despawned} that went, {} damage; {}",
                pilot.shots_called,
                pilot.explosions,
                pilot.heard.len(),
                HostPlayer::damage_seen(&session.server),
                session.difference_of_host().unwrap_or("converged")
            );
        }
        if let Some(is_stopped) = self.cheater_stopped {
            println!("the cheater was {}", if is_stopped { "stopped" } else { "NOT stopped" });
        }
        println!("{}", if self.converged { "every client converged" } else { "NOT every client converged" });
    }

    pub(crate) fn print_json(&self) {
        println!(
            "{{\"converged\":{},\"ticks\":{},\"clients\":{},\"objects\":{},\"bytes_per_client_per_second\":{:.1},\
             \"packets_lost\":{},\"leaks\":{}{}}}",
            self.converged,
            self.ticks,
            self.clients,
            self.objects,
            self.bytes_per_client_per_second,
            self.packets_lost,
            self.leaks,
            self.cheater_stopped.map(|is| format!(",\"cheater_stopped\":{is}")).unwrap_or_default()
        );
    }
}

/// Returns the text next to the progress bar after `tick` ticks.
pub(crate) fn progress(session: &Session, tick: u32) -> String {
    let scores = session.arena.teams.map(|team| session.server[team].score);
    let connected = session.guests.iter().filter(|guest| guest.client.is_connected()).count();
    let (bytes, packets) = session.sent();
    format!(
        "{:>5.1} s  {}:{}  {} objects, {connected} clients, {packets} packets, {} KB sent, {} lost",
        f64::from(tick) / f64::from(TICKS_PER_SECOND),
        scores[0],
        scores[1],
        session.objects(),
        bytes / 1_000,
        session.transport.lost(&session.server),
    )
}

/// How often and with how many bits the clients received one class or property.
struct Row {
    name: String,
    times: u64,
    bits: u64,
}

/// Prints the bits that all clients received, by class and property.
pub(crate) fn print_traffic(session: &Session) {
    println!("\n{:<30} {:>9} {:>10} {:>9}", "received by all", "times", "bytes", "bits each");
    let mut classes = classes(session);
    classes.sort_by_key(|(class, _)| std::cmp::Reverse(class.bits));
    let in_all: u64 = session.guests.iter().map(|w| session.transport.carried(w).bytes).sum();
    let of_classes: u64 = classes.iter().map(|(class, _)| class.bits).sum();
    let longest = classes.first().map_or(1, |(class, _)| class.bits);
    for (class, mut properties) in classes {
        class.print("", longest, '█');
        properties.retain(|property| property.times > 0);
        properties.sort_by_key(|property| std::cmp::Reverse(property.bits));
        properties.iter().for_each(|property| property.print("  ", longest, '▒'));
    }
    let frames = Row {
        name: "frames, acks, messages".to_owned(),
        times: session.guests.iter().map(|w| session.transport.carried(w).packets).sum(),
        bits: (in_all * 8).saturating_sub(of_classes),
    };
    frames.print("", longest, '█');
}

/// Returns the classes with their properties, summed over all clients. The elements of an array are counted
/// under the name of the array, and the fields of a struct under the name of the struct.
fn classes(session: &Session) -> Vec<(Row, Vec<Row>)> {
    let mut classes: Vec<(Row, Vec<Row>)> = Vec::new();
    for traffic in session.guests.iter().flat_map(|guest| guest.client.connection_info().traffic()) {
        let (class, properties) = entry(
            &mut classes,
            traffic.class,
            |(row, _)| &row.name,
            |name| {
                let heads = Row { name: "which object and properties".to_owned(), times: 0, bits: 0 };
                (Row { name, times: 0, bits: 0 }, vec![heads])
            },
        );
        class.times += traffic.opened + traffic.updates;
        class.bits += traffic.head_bits;
        properties[0].times += traffic.opened + traffic.updates;
        properties[0].bits += traffic.head_bits;
        for property in &traffic.properties {
            let name = property.path.split(['.', '[']).next().unwrap_or_default();
            let row = entry(properties, name, |row| &row.name, |name| Row { name, times: 0, bits: 0 });
            row.times += property.updates;
            row.bits += property.bits;
            class.bits += property.bits;
        }
    }
    classes
}

/// Returns the entry with this name, and adds an entry first if none has the name.
fn entry<'a, T>(
    entries: &'a mut Vec<T>,
    name: &str,
    name_of: impl Fn(&T) -> &String,
    make: impl FnOnce(String) -> T,
) -> &'a mut T {
    let at = entries.iter().position(|entry| name_of(entry) == name).unwrap_or(entries.len());
    if at == entries.len() {
        entries.push(make(name.to_owned()));
    }
    &mut entries[at]
}

impl Row {
    fn print(&self, indent: &str, longest: u64, block: char) {
        const BAR: u64 = 40;
        let length = (self.bits * BAR).div_ceil(longest.max(1)) as usize;
        let bar: String = std::iter::repeat_n(block, length).collect();
        let each = self.bits as f64 / self.times.max(1) as f64;
        let name = format!("{indent}{}", self.name);
        println!("{name:<30} {:>9} {:>10} {each:>9.1} {bar}", self.times, self.bits / 8);
    }
}

/// Prints a line for each client.
pub(crate) fn print_clients(session: &Session) {
    println!(
        "\n{:<8} {:>8} {:>9} {:>8} {:>7} {:>6} {:>7} {:>8} {:>7}  state",
        "client", "player", "bytes", "packets", "lost", "late", "rtt ms", "spawned", "damage"
    );
    for (number, guest) in session.guests.iter().enumerate() {
        let stats = guest.connection.and_then(|id| session.server.connection_info(id).stats());
        let stats = stats.unwrap_or_default();
        let carried = session.transport.carried(guest);
        let player = guest.connection.and_then(|id| session.sight.seats.get(&id));
        let damage: u32 = guest.client.objects::<Player>().map(|(_, player)| player.damage_seen).sum();
        println!(
            "{:<8} {:>8} {:>9} {:>8} {:>7} {:>6} {:>7} {:>8} {:>7}  {}",
            number + 1,
            player.map_or("-", |&player| session.server[player].name.as_str()),
            stats.bytes_sent,
            stats.packets_sent,
            carried.lost,
            carried.late,
            stats.round_trip.as_millis(),
            guest.spawned,
            damage,
            session.difference(guest).unwrap_or_else(|| {
                let state = if guest.is_rejected { "stopped" } else { "converged" };
                state.to_owned()
            }),
        );
    }
    println!();
}
