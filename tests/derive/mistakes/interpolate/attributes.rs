use repl::Interpolate;

#[derive(Interpolate)]
#[interpolate(step)]
struct Place {
    #[interpolate(steps)]
    floor: u8,
    #[interpolate(crate = "repl")]
    height: f32,
}

fn main() {}
