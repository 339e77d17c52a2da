use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(notify(on_ammo))]
    ammo: u16,
}

fn main() {}
