//! A custom condition may start switched off, together with any other attribute of the field.

use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(condition = Custom, starts_off)]
    plan: String,
    #[replicated(starts_off, push, notify = on_mood, condition = Custom)]
    mood: u8,
    moods: Vec<u8>,
}

impl Player {
    fn on_mood(&mut self, old: &u8) {
        self.moods.push(*old);
    }
}

#[test]
fn s45_a_switch_may_start_off() {
    let mut player = Player { mood: 1, ..Player::default() };
    Replicated::notify(&mut player, 1, &Player::default());
    assert_eq!((player.plan.as_str(), player.moods), ("", vec![0]));
}
