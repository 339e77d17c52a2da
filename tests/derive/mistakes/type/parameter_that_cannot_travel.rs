use repl::Replicated;

#[derive(Replicated, Default)]
struct Holder<T> {
    #[replicated]
    value: Vec<T>,
}

fn is_replicated<T: Replicated>() {}

fn main() {
    is_replicated::<Holder<u8>>();
    is_replicated::<Holder<std::time::Instant>>();
}
