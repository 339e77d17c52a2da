//! How much memory a client needs for the paths of assets that a server names.
//!
//! *Invariant:* the allocator counts what the client allocates and frees in its own calls.

use std::time::Duration;

use repl::prelude::*;

use crate::allocator::held;

const TICK: Duration = Duration::from_millis(16);
/// The memory for a path of 255 bytes: the path is stored twice with bookkeeping, and again in the event
/// about it.
const BYTES_OF_PATH: usize = 800;

#[derive(Replicated, Default)]
struct Album {
    #[replicated]
    pictures: FastArray<Picture>,
}

#[derive(FastArrayItem, Default, Clone, PartialEq)]
struct Picture {
    #[replicated]
    picture: AssetRef<str>,
}

#[test]
fn s199_a_server_makes_a_client_keep_no_more_paths_than_it_allows() {
    for max_assets in [500, 4_000] {
        let mut server = Server::new(ServerConfig::default());
        server.register_assets().register::<Album>();
        let config = ClientConfig { max_assets, reconnects: false, ..ClientConfig::default() };
        let mut client = Client::new(config, Session::for_tests(1));
        client.register_assets().register::<Album>();
        let (id, mut now) = (server.connect(Duration::ZERO), TICK);
        let album = server.spawn(Album::default());
        let (mut added, mut most, mut before, mut total) = (0, 0_isize, None, 0_isize);
        for tick in 0_u32.. {
            assert!(tick < 10_000, "the client leaves when it was sent too many paths");
            now += TICK;
            server.tick(now);
            while let Some(packet) = server.poll_transmit(id).map(<[u8]>::to_vec) {
                let start = held();
                client.receive(now, &packet).ok();
                total += held() - start;
            }
            let start = held();
            client.tick(now);
            total += held() - start;
            while let Some(packet) = client.poll_transmit() {
                server.receive(id, now, packet);
            }
            if tick > 20 {
                let before = *before.get_or_insert(total);
                most = most.max(total - before);
                if !client.is_connected() {
                    break;
                }
                for _ in 0..20 {
                    let picture = server.assets().add(&format!("{added:0>255}"));
                    added += 1;
                    server[album].pictures.push(Picture { picture });
                    while server[album].pictures.len() > 100 {
                        server[album].pictures.remove(0);
                    }
                }
            }
        }
        assert!(added > max_assets, "{added} of {max_assets}");
        let limit = (max_assets * BYTES_OF_PATH + (200 << 10)) as isize;
        assert!(most < limit, "{most} B with {max_assets} paths, {} B a path", most / max_assets as isize);
    }
}
