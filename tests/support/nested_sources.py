"""A C++ file with classes and enumerations inside of classes."""

from __future__ import annotations

NESTED = r"""
#include <anyffi/anyffi.h>

namespace zoo {
struct Shape {
  enum class Type { kCircle, kSquare };
  struct Size {
    struct Unit {
      int64_t scale = 1;
    };
    int64_t width = 2;
    Unit unit;
  };
  Type type() const { return Type::kSquare; }
  Size size;
};
struct Joint {
  enum class Type { kWheel };
  Type type = Type::kWheel;
};
struct Failure : std::exception {};
}  // namespace zoo

using anyffi::arg;

ANYFFI_ENUM(zoo::Joint::Type, "zoo.Joint.Type").value("WHEEL", zoo::Joint::Type::kWheel);
ANYFFI_ENUM(zoo::Shape::Type, "zoo.Shape.Type")
    .value("CIRCLE", zoo::Shape::Type::kCircle)
    .value("SQUARE", zoo::Shape::Type::kSquare);
ANYFFI_CLASS(zoo::Shape::Size::Unit, "zoo.Shape.Size.Unit").init<>().field("scale", &zoo::Shape::Size::Unit::scale);
ANYFFI_CLASS(zoo::Shape::Size, "zoo.Shape.Size")
    .init<>()
    .field("width", &zoo::Shape::Size::width)
    .field("unit", &zoo::Shape::Size::unit);
ANYFFI_EXCEPTION(zoo::Failure, "zoo.Shape.Failure", "ValueError");
ANYFFI_CLASS(zoo::Shape, "zoo.Shape")
    .init<>()
    .property("type", &zoo::Shape::type)
    .field("size", &zoo::Shape::size)
    .method("fail", [](zoo::Shape&) { throw zoo::Failure(); });
enum class Code { kOne };
struct Oops : std::exception {};
ANYFFI_EXCEPTION(Oops, "zoo.Oops", "ValueError");
ANYFFI_ENUM(Code, "zoo.Oops.Code").value("ONE", Code::kOne);
ANYFFI_CLASS(zoo::Joint, "zoo.Joint").init<>().field("type", &zoo::Joint::type);
ANYFFI_EXPORT(name, [](zoo::Shape::Type type) { return type == zoo::Shape::Type::kCircle ? "circle" : "square"; },
              arg("type"));
"""

#: A library that adds to a class that exists already.
LATER = r"""
#include <anyffi/anyffi.h>

namespace { enum class Color { kRed }; }
struct Inner {
  int64_t x = 1;
};
struct Outer : Inner {};
// A class may derive from one that is nested in it by its key.
ANYFFI_CLASS(Inner, "zoo.Outer.Inner").init<>().field("x", &Inner::x);
ANYFFI_CLASS(Outer, "zoo.Outer", Inner).init<>();
ANYFFI_ENUM(Color, "zoo.Joint.Color").value("RED", Color::kRed);
"""
