use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(serializer)]
    ammo: u16,
}

fn main() {}
