const std = @import("std");

pub fn build(b: *std.Build) void {
    const client = b.addExecutable(.{
        .name = "client",
        .root_module = b.createModule(.{
            .root_source_file = b.path("src/main.zig"),
            .target = b.standardTargetOptions(.{}),
            .optimize = b.standardOptimizeOption(.{ .preferred_optimize_mode = .ReleaseFast }),
        }),
    });
    b.installArtifact(client);
}
