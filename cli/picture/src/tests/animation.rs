//! Animations, decoded and put together again.

use super::*;

/// The pictures as a viewer shows them: each drawn over the one before.
fn shown(file: &[u8]) -> Vec<Vec<u8>> {
    let mut reader = ::png::Decoder::new(std::io::Cursor::new(file))
        .read_info()
        .unwrap();
    let count = reader.info().animation_control().unwrap().num_frames;
    let width = reader.info().width as usize * 3;
    let mut canvas = vec![0; width * reader.info().height as usize];
    let mut pictures = Vec::new();
    for _ in 0..count {
        let mut part = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut part).unwrap();
        let control = *reader.info().frame_control().unwrap();
        assert_eq!((control.x_offset, control.width as usize * 3), (0, width));
        let from = control.y_offset as usize * width;
        let length = control.height as usize * width;
        canvas[from..from + length].copy_from_slice(&part[..length]);
        pictures.push(canvas.clone());
    }
    pictures
}

fn still(screen: &Screen) -> Vec<u8> {
    let file = draw(screen, &LOOK, Format::Png).unwrap().bytes;
    let mut reader = ::png::Decoder::new(std::io::Cursor::new(file))
        .read_info()
        .unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut pixels).unwrap();
    pixels
}

#[test]
fn each_picture_is_what_a_still_of_its_screen_is() {
    let text = |lines: [&str; 3]| {
        let rows = lines.map(|line| row(&[(line, u16::try_from(line.len()).unwrap(), plain())]));
        screen(10, rows.to_vec())
    };
    let first = text(["one", "two", "three"]);
    let mut second = text(["one", "TWO", "three"]);
    second.cursor.visible = true;
    second.cursor.row = 2;
    let mut third = second.clone();
    third.cursor.column = 4;
    let mut reversed = third.clone();
    reversed.modes.reverse_video = true;
    let screens = [first.clone(), second, third.clone(), third, reversed, first];
    let frames = screens.clone().map(|screen| Frame {
        screen,
        shown_ms: 100,
    });
    let file = animate(&frames, &LOOK).unwrap();
    let pictures = shown(&file.bytes);
    assert_eq!(pictures.len(), screens.len());
    for (number, (picture, screen)) in pictures.iter().zip(&screens).enumerate() {
        assert!(*picture == still(screen), "picture {number}");
    }
}

#[test]
fn an_animation_is_as_large_as_its_largest_screen() {
    let small = screen(4, vec![row(&[("a", 1, plain())])]);
    let large = screen(8, vec![row(&[("b", 1, plain())]); 3]);
    let frames = [small, large].map(|screen| Frame {
        screen,
        shown_ms: 40,
    });
    let file = animate(&frames, &LOOK).unwrap();
    let pictures = shown(&file.bytes);
    assert!(pictures[1] == still(&frames[1].screen));
    assert_eq!(pictures[0].len(), pictures[1].len());
    assert!(matches!(animate(&[], &LOOK), Err(PictureError::NoFrames)));
}
