//! What `notify` accepts: methods with and without the old value, functions, and methods of traits. One
//! method can serve several fields.

use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(notify = moved)]
    x: f32,
    #[replicated(notify = moved)]
    y: f32,
    #[replicated]
    silent: u8,
    #[replicated(notify = renamed)]
    name: String,
    #[replicated(notify = Events::teamed)]
    team: Option<u8>,
    #[replicated(notify = observers::scored)]
    score: [u32; 2],
    #[replicated(with = repl_bool, notify = self::observers::alive)]
    alive: bool,
    log: Vec<String>,
}

impl Player {
    fn moved(&mut self) {
        self.log.push(format!("moved to {} {}", self.x, self.y));
    }

    fn renamed(&mut self, old: &String) {
        self.log.push(format!("was {old}"));
    }
}

trait Events {
    fn teamed(&mut self, old: &Option<u8>);
}

impl Events for Player {
    fn teamed(&mut self, old: &Option<u8>) {
        self.log.push(format!("left {old:?}"));
    }
}

mod observers {
    use super::Player;

    pub fn scored(player: &mut Player, old: &[u32; 2]) {
        player.log.push(format!("had {old:?}"));
    }

    pub fn alive<T>(player: &mut Player, _: &T) {
        player.log.push(format!("alive {}", player.alive));
    }
}

mod repl_bool {
    use repl::{BitReader, BitWriter, ReadError, ReferenceMap, WriteError};

    pub const NAME: &str = "repl_bool";

    pub fn write(value: &bool, writer: &mut BitWriter) -> Result<(), WriteError> {
        writer.write_flag(*value);
        Ok(())
    }

    pub fn read(reader: &mut BitReader<'_>, _: &mut ReferenceMap<'_>) -> Result<bool, ReadError> {
        reader.read_flag()
    }
}

#[test]
fn s52_every_form_of_notify_is_accepted() {
    let mut player = Player { x: 1.0, y: 2.0, silent: 3, ..Player::default() };
    let old = Player { name: "Ada".to_owned(), team: Some(4), score: [5, 6], ..Player::default() };
    for field in 0..=Player::LAYOUT.properties() {
        Replicated::notify(&mut player, field, &old);
    }
    assert_eq!(
        player.log,
        ["moved to 1 2", "moved to 1 2", "was Ada", "left Some(4)", "had [5, 6]", "alive false"]
    );
}
