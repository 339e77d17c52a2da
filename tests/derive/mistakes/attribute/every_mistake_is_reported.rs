use repl::Replicated;

#[derive(Replicated, Default)]
#[replicated(alll)]
struct Player {
    #[replicated(condition = Owner)]
    ammo: u16,
    #[replicated(bits = 0, push = 1)]
    health: u16,
    #[replicated(skip, notify_always)]
    name: String,
}

fn is_replicated<T: Replicated>() {}

fn main() {
    is_replicated::<Player>();
}
