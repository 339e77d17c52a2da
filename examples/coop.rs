//! A server and clients on the internet. Players walk, find a coin with each step, and buy hats if they can.
//!
//! Packets are encrypted, which needs the feature `quic`. With `--insecure-udp` they are not encrypted. A
//! server keeps its certificate in `target/coop-certificate`, and not in `/tmp`, where another user could
//! replace it. Clients that are started in the same folder trust it. Other clients need `--pin` with the hash
//! that the server prints.
//!
//! *Invariant:* the self-test runs the same code as the other commands, and measures all figures that it
//! prints.
#![expect(clippy::print_stdout, reason = "the example's output")]
#![cfg_attr(not(feature = "quic"), expect(unused, reason = "only what encrypts uses all"))]

use repl::prelude::*;
#[cfg(feature = "quic")]
use repl::quic::{self, Identity, QuicClient, QuicServer, Trust};
use std::collections::BTreeSet;
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};
use std::{env, error::Error, io, process::ExitCode, sync::LazyLock, thread};

type Fallible<T> = Result<T, Box<dyn Error>>;
type Game = Program<Server>;
type Guest = Program<Client>;

static START: LazyLock<Instant> = LazyLock::new(Instant::now);
const TICK: Duration = Duration::from_millis(10);
const INPUT: Channel = Channel::Sequenced { copies: 3 }; // each step is sent in three packets, one a tick
const STEPS: MessageOptions = MessageOptions { per_second: 110, ..MessageOptions::DEFAULT }; // one in a tick
const PACKETS: usize = 1_000; // at most this many in a tick, so that a flood cannot block it
const FOLDER: &str = "target/coop-certificate";
const USAGE: &str = "[--insecure-udp] server ADDRESS | client ADDRESS NAME [--pin HASH] | --self-test --json";
const NO_QUIC: &str = "this build cannot encrypt: cargo run --features quic --example coop -- …";
const ROAD: u16 = 300;
const PURSE: u16 = 48;

#[derive(Replicated, Clone, Default, Debug, PartialEq)]
#[replicated(all)]
struct Player {
    #[replicated(condition = InitialOnly, max_len = 16)]
    name: String,
    position: u16,
    hats: u16,
    #[replicated(condition = OwnerOnly)]
    coins: u16,
}

#[derive(NetSerialize, Clone)]
struct Step(#[replicated(range = 1..=2)] u16);

#[rpcs]
impl Player {
    #[rpc(server, reliable, validate = may_buy, per_second = 20)]
    fn buy(&mut self, hats: u16) {
        if let Some(rest) = self.coins.checked_sub(hats * PURSE) {
            (self.coins, self.hats) = (rest, self.hats + hats);
        }
    }

    fn may_buy(&self, _caller: ConnectionId, hats: &u16) -> bool {
        *hats == 1 // no purse is worth more, so who asks for more has cheated, and is disconnected
    }
}

fn register(side: &mut impl Register) {
    side.register_calls::<Player>().register_message_with::<Step>(INPUT, STEPS);
}

fn random() -> [u8; 16] {
    let mut bits = [0; 16];
    getrandom::fill(&mut bits).map(|()| bits).expect("the operating system has random numbers")
}

/// A server or a client, and the function that runs a tick: it receives packets, plays, and sends packets.
struct Program<Side>(Side, Tick<Side>);
type Tick<Side> = Box<dyn FnMut(&mut Side, Duration) -> io::Result<()>>;

impl Game {
    fn new(own: SocketAddr, is_encrypted: bool, players: Vec<Player>) -> Fallible<Self> {
        let mut side = Server::new(ServerConfig { login: Login::Ask, ..ServerConfig::default() });
        register(&mut side);
        players.into_iter().for_each(|player| _ = side.spawn(player));
        #[cfg(feature = "quic")]
        if is_encrypted {
            let identity = Identity::development(FOLDER)?;
            let mut quic = QuicServer::bind(own, &identity, quic::QuicConfig::default())?;
            eprintln!("clients in other folders or on other machines need: --pin {}", identity.hash());
            let tick = move |server: &mut Server, now| {
                quic.receive(server, now)?;
                Self::play(server, now);
                quic.transmit(server, now)
            };
            return Ok(Self(side, Box::new(tick)));
        }
        let (socket, mut buffer) = (UdpSocket::bind(own)?, [0; 1_500]);
        socket.set_nonblocking(true)?;
        let mut endpoint = Endpoint::new(EndpointConfig::default(), u128::from_le_bytes(random()));
        let tick = move |server: &mut Server, now| {
            for _ in 0..PACKETS {
                let Ok((length, from)) = socket.recv_from(&mut buffer) else { break };
                endpoint.receive(server, now, from, &buffer[..length]);
            }
            Self::play(server, now);
            while let Some((to, packet)) = endpoint.poll_transmit(server) {
                socket.send_to(packet, to).ok(); // what cannot be sent counts as lost
            }
            Ok(())
        };
        Ok(Self(side, Box::new(tick)))
    }

    fn play(server: &mut Server, now: Duration) {
        while let Some(event) = server.poll_event() {
            if let ServerEvent::Login(id, login) = event {
                Self::login(server, id, String::from_utf8_lossy(&login).into_owned());
            }
        }
        while let Some((id, Step(step))) = server.poll_message() {
            let Some((me, _)) = server.connection_info(id).owned_objects::<Player>().next() else { continue };
            let player = &mut server[me];
            if player.position + step <= ROAD && player.coins + step <= PURSE {
                (player.position, player.coins) = (player.position + step, player.coins + step);
            }
        }
        server.tick(now); // calls run here
    }

    /// In this example a name is enough. To be sure who the player is, let clients send a ticket too.
    fn login(server: &mut Server, id: ConnectionId, name: String) {
        if !(1..=16).contains(&name.len()) {
            server.connection(id).refuse("a name has 1 to 16 bytes");
            return;
        }
        let known = server.objects::<Player>().find(|(_, old)| old.name == name).map(|(old, _)| old);
        let player = known.unwrap_or_else(|| server.spawn(Player { name, ..Player::default() }));
        if let Some(earlier) = server.object_info(player).owner() {
            server.connection(earlier).disconnect_with("somebody with your name has come");
        }
        server.object(player).set_owner(Some(id));
        server.connection(id).accept(&[]);
    }
}

impl Guest {
    fn new(server: SocketAddr, is_encrypted: bool, pin: Option<&str>, name: &str) -> Fallible<Self> {
        let config = ClientConfig { login: name.into(), ..Default::default() };
        let mut side = Client::new(config, Session::from_random(random()));
        register(&mut side);
        #[cfg(feature = "quic")]
        if is_encrypted {
            let trust = match pin {
                Some(hash) => Trust::pinned([hash.parse()?]),
                None => Trust::development(FOLDER)?,
            };
            let mut quic = QuicClient::new(server, &trust)?;
            let tick = move |client: &mut Client, now| {
                quic.receive(client, now)?;
                Self::play(client, now);
                quic.transmit(client, now)
            };
            return Ok(Self(side, Box::new(tick)));
        }
        let any = if server.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
        let (socket, mut buffer) = (UdpSocket::bind(any)?, [0; 1_500]);
        socket.set_nonblocking(true)?;
        socket.connect(server)?;
        let tick = move |client: &mut Client, now| {
            for _ in 0..PACKETS {
                let Ok(length) = socket.recv(&mut buffer) else { break };
                client.receive(now, &buffer[..length]).ok(); // what ends the session is an event too
            }
            Self::play(client, now);
            while let Some(packet) = client.poll_transmit() {
                socket.send(packet).ok();
            }
            Ok(())
        };
        Ok(Self(side, Box::new(tick)))
    }

    fn play(client: &mut Client, now: Duration) {
        while let Some(event) = client.poll_event() {
            eprintln!("{event:?}");
        }
        client.send(&Step(1)).ok(); // an error without a connection
        let updates = std::iter::from_fn(|| client.poll_update());
        let earned = updates.filter(|update| update.properties().contains("coins"));
        let earners: BTreeSet<_> = earned.filter_map(|update| update.cast::<Player>()).collect();
        for player in earners {
            if client.get(player).is_some_and(|player| player.coins == PURSE) {
                client.call(player).buy(1).ok();
            }
        }
        client.tick(now);
    }
}

/// Plays until `done` returns true, but at most 8 s. Returns whether it did.
fn play(games: &mut [Game], guests: &mut [Guest], done: impl Fn(&[Guest]) -> bool) -> io::Result<bool> {
    let start = Instant::now();
    while !done(guests) && start.elapsed() < TICK * 800 {
        games.iter_mut().try_for_each(|Program(server, tick)| tick(server, START.elapsed()))?;
        guests.iter_mut().try_for_each(|Program(client, tick)| tick(client, START.elapsed()))?;
        thread::sleep(TICK);
    }
    Ok(done(guests))
}

fn self_test(is_encrypted: bool) -> Fallible<bool> {
    let address = UdpSocket::bind("127.0.0.1:0")?.local_addr()?; // a free port
    let game = |players| Game::new(address, is_encrypted, players);
    let guest = |name| Guest::new(address, is_encrypted, None, name);
    let players = |game: &Game| game.0.objects().map(|(_, one)| Player::clone(one)).collect::<Vec<_>>();
    let goes = |me: &Guest| me.0.connection_info().owned_objects::<Player>().any(|(_, me)| me.position > 50);
    let (mut games, mut guests) = (vec![game(vec![])?], [guest("Ada")?, guest("")?]); // a name is missing
    let refused = play(&mut games, &mut guests, |all| goes(&all[0]) && all[1].0.connection_info().is_over())?;
    guests[1] = guest("Bob")?;
    let late = play(&mut games, &mut guests, |all| goes(&all[1]))?;
    guests[1] = guest("Bob")?; // his program is killed and started again, with another socket
    let reconnected = play(&mut games, &mut guests, |all| goes(&all[1]))?;
    let (saved, instance) = (players(&games[0]), guests[0].0.connection_info().server_instance());
    let old: Vec<_> = guests[0].0.objects::<Player>().map(|(object, _)| object).collect();
    games.clear(); // the server's program is killed and started again; the players were kept, as in a file
    let killed = Instant::now();
    play(&mut games, &mut guests, |_| killed.elapsed() > TICK * 20)?;
    games.push(game(saved)?);
    let is_back = |one: &Guest| one.0.is_connected() && one.0.connection_info().server_instance() != instance;
    let restarted = play(&mut games, &mut guests, |all| all.iter().all(is_back))?;
    let stale = old.iter().filter(|&&old| guests.iter().any(|one| one.0.contains(old))).count();
    let steps = |one: &Guest| one.0.objects::<Player>().map(|(_, player)| player.position).sum::<u16>();
    play(&mut games, &mut guests, |all| all.iter().all(|one| steps(one) == 2 * ROAD))?;
    let truth = players(&games[0]);
    let equal = guests.iter().all(|Program(client, _)| {
        let is_true = |(object, shown): (_, &Player)| {
            let own = u16::from(client.object_info(object).is_owner()); // others see no coins
            truth.iter().any(|one| *shown == Player { coins: one.coins * own, ..one.clone() })
        };
        client.objects().all(is_true) && client.objects::<Player>().count() == 2
    });
    let (moves, calls) = truth.iter().fold((0, 0), |sum, one| (sum.0 + one.position, sum.1 + one.hats));
    print!(r#"{{"converged":{equal},"moves":{moves},"calls":{calls},"late_join":{late},"stale":{stale},"#);
    print!(r#""refused":{refused},"reconnected":{reconnected},"server_restarted":{restarted},"#);
    println!(r#""encrypted":{is_encrypted}}}"#);
    Ok(equal && refused && late && reconnected && restarted && (moves, calls, stale) == (600, 12, 0))
}

fn run() -> Fallible<bool> {
    let (insecure, words): (Vec<_>, Vec<_>) = env::args().skip(1).partition(|word| word == "--insecure-udp");
    let (is_encrypted, mut games, mut guests) = (insecure.is_empty(), vec![], vec![]);
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        _ if is_encrypted && !cfg!(feature = "quic") => return Err(NO_QUIC.into()),
        ["server", own] => games.push(Game::new(own.parse()?, is_encrypted, vec![])?),
        ["client", at, me] => guests.push(Guest::new(at.parse()?, is_encrypted, None, me)?),
        ["client", at, me, "--pin", hash] if is_encrypted => {
            guests.push(Guest::new(at.parse()?, true, Some(hash), me)?);
        }
        ["--self-test", ..] => return self_test(is_encrypted),
        _ => return Err(USAGE.into()),
    }
    while !play(&mut games, &mut guests, |all| all.iter().any(|one| one.0.connection_info().is_over()))? {}
    Ok(false) // a server plays for ever, and a client until it is sent away
}

fn main() -> ExitCode {
    ExitCode::from(u8::from(!run().inspect_err(|error| eprintln!("{error}")).unwrap_or(false)))
}
