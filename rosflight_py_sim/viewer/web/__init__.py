"""The browser viewer: scene, plots and controls on a web page served with viser; independent of ROS."""
